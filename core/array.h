// Array: a growable array of trivial values that never initialises what it grows by, for columns
// that are overwritten whole for every block and recycled with their ring entry.
//
// Growing keeps the first size() values; shrinking never frees. Thread safety: single-writer.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace weir::core {

template <class T>
requires std::is_trivially_copyable_v<T>
class Array {
 public:
  Array() = default;
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { std::free(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<const T> span() const { return {data_, size_}; }

  void clear() { size_ = 0; }
  void reserve(std::size_t n) {
    if (n <= capacity_) return;
    const std::size_t wanted = n > 2 * capacity_ ? n : 2 * capacity_;
    // 64-byte alignment so that kernels may use aligned loads.
    auto* grown = static_cast<T*>(std::aligned_alloc(64, (wanted * sizeof(T) + 63) / 64 * 64));
    if (grown == nullptr) throw std::bad_alloc();
    if (size_ != 0) std::memcpy(grown, data_, size_ * sizeof(T));
    std::free(data_);
    data_ = grown;
    capacity_ = wanted;
  }
  // New values are not initialised.
  void resize(std::size_t n) {
    reserve(n);
    size_ = n;
  }
  void push_back(const T& value) {
    const T copy = value;
    if (size_ == capacity_) reserve(size_ + 1);
    data_[size_++] = copy;
  }
  void append(const T* from, std::size_t n) {
    reserve(size_ + n);
    if (n != 0) std::memcpy(data_ + size_, from, n * sizeof(T));
    size_ += n;
  }
  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace weir::core
