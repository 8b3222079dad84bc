// The requests that users copy, from docs/requests.md and examples/requests/, mean what is said of
// them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "engine/request.h"

namespace weir::engine {
namespace {

std::vector<Request> parse(std::string_view text) {
  auto requests = parse_requests(text);
  EXPECT_TRUE(requests.ok()) << requests.status().message() << "\n" << text;
  return requests.ok() ? *std::move(requests) : std::vector<Request>();
}

std::filesystem::path root() { return WEIR_SOURCE_DIR; }

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The fenced blocks of docs/requests.md whose info string is exactly `info`.
std::vector<std::string> doc_blocks(std::string_view info) {
  std::vector<std::string> blocks;
  std::istringstream doc(read_file(root() / "docs/requests.md"));
  bool inside = false, wanted = false;
  for (std::string line; std::getline(doc, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      wanted = inside && line.substr(3) == info;
      if (wanted) blocks.emplace_back();
    } else if (wanted) {
      blocks.back() += line + "\n";
    }
  }
  EXPECT_FALSE(inside) << "a block is not closed";
  return blocks;
}

TEST(RequestExamples, OfTheDocumentationHaveNoErrors) {
  auto blocks = doc_blocks("json");
  EXPECT_GE(blocks.size(), 5u);
  const auto registries = doc_blocks("json registry");
  EXPECT_GE(registries.size(), 1u);
  blocks.insert(blocks.end(), registries.begin(), registries.end());
  for (const std::string& block : blocks) {
    if (block.find("plugin") != std::string::npos) continue;  // tests/replay/docs_test.cc has one
    for (const Request& r : parse(block)) EXPECT_EQ(r.error, "") << block;
  }
}

TEST(RequestExamples, OfTheDocumentationThatAreWrongSayWhatItSays) {
  // A block of a request a line, each followed by the error it gets.
  const auto blocks = doc_blocks("json wrong");
  EXPECT_GE(blocks.size(), 1u);
  for (const std::string& block : blocks) {
    std::istringstream lines(block);
    for (std::string request, error; std::getline(lines, request) && std::getline(lines, error);) {
      const auto requests = parse(request);
      ASSERT_EQ(requests.size(), 1u) << request;
      EXPECT_EQ(requests[0].error, error);
    }
  }
}

TEST(RequestExamples, InFilesHaveNoErrors) {
  for (const auto& file : std::filesystem::directory_iterator(root() / "examples/requests")) {
    const auto requests = parse(read_file(file.path()));
    EXPECT_GT(requests.size(), 0u) << file.path();
    for (const Request& r : requests) EXPECT_EQ(r.error, "") << file.path();
  }
}

}  // namespace
}  // namespace weir::engine
