// Status and Result: how a bad request, configuration or file is reported. A bad record is never a
// Status (it is counted by reason), and a broken invariant is a crash.
//
// Thread safety: immutable values.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace weir {

enum class Code {
  kOk = 0,
  kInvalid,      // a request, parameter or option is wrong; the message says what would be right
  kConfig,       // a configuration or mapping file is wrong
  kNotFound,     // a file, stream or synopsis is not there
  kIo,           // the system refused to read or write
  kUnsupported,  // understood, but this version does not do it
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  // One line, without a final full stop or newline.
  const std::string& message() const { return message_; }
  // The same status with `context: ` before its message, for a chain from the outside in.
  Status with(const std::string& context) const {
    return ok() ? *this : Status(code_, context + ": " + message_);
  }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

// A value, or the status that says why there is none. REQUIRES: ok() before value access.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Status status)
      : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace weir
