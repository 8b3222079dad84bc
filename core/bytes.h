// Writer and Reader: little-endian bytes for state files, digests and journals.
//
// A Reader never reads past its end and never throws: a short or wrong read makes it fail for good,
// and every later read gives zero. Thread safety: thread-compatible.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace weir::core {

static_assert(std::endian::native == std::endian::little, "weir's formats are little-endian");

class Writer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) { raw(&value, sizeof value); }
  template <class T>
  requires std::is_arithmetic_v<T>
  void put_span(std::span<const T> values) { raw(values.data(), values.size_bytes()); }
  // u32 length, then the bytes.
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    raw(text.data(), text.size());
  }
  void raw(const void* data, std::size_t n) { bytes_.append(static_cast<const char*>(data), n); }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> T get() {
    T value{};
    raw(&value, sizeof value);
    return value;
  }
  // Resizes `into` to `n` only if that many bytes are there, so a hostile count cannot make it
  // allocate more than the input holds.
  template <class T>
  requires std::is_arithmetic_v<T>
  bool get_vector(std::vector<T>& into, std::uint64_t n) {
    if (failed_ || n > rest_.size() / sizeof(T)) return fail();
    into.resize(n);
    return raw(into.data(), n * sizeof(T));
  }
  std::string_view get_text() {
    const auto n = get<std::uint32_t>();
    return take(n);
  }
  // The next `n` bytes, or none if there are not that many.
  std::string_view take(std::uint64_t n) {
    if (failed_ || n > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view bytes = rest_.substr(0, static_cast<std::size_t>(n));
    rest_.remove_prefix(bytes.size());
    return bytes;
  }
  bool raw(void* into, std::size_t n) {
    if (failed_ || n > rest_.size()) {
      std::memset(into, 0, n);
      return fail();
    }
    if (n != 0) std::memcpy(into, rest_.data(), n);
    rest_.remove_prefix(n);
    return true;
  }
  bool fail() {
    failed_ = true;
    return false;
  }
  bool ok() const { return !failed_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace weir::core
