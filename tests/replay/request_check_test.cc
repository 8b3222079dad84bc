// What is found in requests before a run, and that nothing else is.
#include "replay/request_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/replay/subprocess.h"

namespace weir::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> errors_of(std::vector<RequestFile> files) {
  std::vector<std::string> texts;
  for (const RequestError& error : check_requests(files)) texts.push_back(error.text);
  return texts;
}

class RequestCheck : public testing::Test {
 protected:
  RequestFile file(const std::string& requests, std::optional<Period> emit = {}) {
    auto read = read_requests(requests, "r", kinds_);
    EXPECT_TRUE(read.ok()) << read.status().message();
    read->emit = emit;
    return *std::move(read);
  }
  std::vector<std::string> errors(const std::string& requests, std::optional<Period> emit = {}) {
    return errors_of({file(requests, emit)});
  }

  engine::Kinds kinds_;
};

std::string request(const std::string& kind, const std::string& stream, const std::string& more) {
  const std::string of = stream.empty() ? "" : R"("stream":")" + stream + R"(",)";
  return R"({"synopsis":")" + kind + R"(","dataset":"D",)" + of + more + "}\n";
}
std::string count_min(const std::string& more) {
  return request("CountMin", "A", R"("field":"price",)" + more);
}
std::string build(const std::string& epsilon, const std::string& more = "") {
  return count_min(R"("op":"build","params":{"epsilon":)" + epsilon + R"(,"confidence":0.9})" +
                   more);
}
// A DFT on a grid of time, of one stream or ("") of all.
std::string dft(const std::string& stream, const std::string& more = "", int coefficients = 4) {
  return request("DFT", stream,
                 R"("op":"build","field":"price","params":{"interval":1,"basic":8,"window":64,)"
                 R"("coefficients":)" +
                     std::to_string(coefficients) + "}" + more);
}
std::string ask_dft(const std::string& stream, const std::string& query,
                    const std::string& more = "") {
  return request("DFT", stream, R"("op":"query","field":"price","query":)" + query + more);
}

TEST_F(RequestCheck, FindsAQueryThatItsSynopsisAlwaysRefuses) {
  EXPECT_THAT(errors(build("0.1") + count_min(R"("op":"query")")),
              ElementsAre(HasSubstr("r: request 2 (query CountMin of D/A price): ")));
  EXPECT_THAT(errors(build("0.1") + count_min(R"("op":"query","query":5)")), IsEmpty());
}

TEST_F(RequestCheck, FindsASecondBuildWithOtherParametersWindowsOrWeights) {
  EXPECT_THAT(errors(build("0.1") + build("0.2") + build("0.1")),
              ElementsAre(HasSubstr("r: request 2 (build CountMin of D/A price): it stands with")));
  EXPECT_THAT(errors(build("0.1") + build("0.1", R"(,"weight":"volume")")),
              ElementsAre(HasSubstr("request 2 ")));
  EXPECT_THAT(errors(build("0.1", R"(,"window":{"size":"1m"})") +
                     build("0.1", R"(,"window":{"size":"1m","grace":1})")),
              ElementsAre(HasSubstr("request 2 ")));
  EXPECT_THAT(errors(build("0.1") + build("0.1", R"(,"parallelism":2)")),
              ElementsAre(HasSubstr("request 2 ")));
  // The first of them is the one that comes first in the input.
  EXPECT_THAT(errors(build("0.1", R"(,"at":{"record":5})") + build("0.2")),
              ElementsAre(HasSubstr("request 1 ")));
  // Whether the first of these is reached, only the input knows.
  EXPECT_THAT(errors(build("0.1", R"(,"at":{"record":5})") + build("0.2", R"(,"at":{"end":true})")),
              IsEmpty());
  EXPECT_THAT(errors(build("0.1", R"(,"at":{"time":5})") + build("0.2", R"(,"at":{"record":5})")),
              IsEmpty());
  EXPECT_THAT(errors(build("0.1") + build("0.10")), IsEmpty());
  EXPECT_THAT(errors(build("0.1", R"(,"window":{"size":60})") +
                     build("0.1", R"(,"window":{"size":"1m","slide":"60s"})")),
              IsEmpty());
  EXPECT_THAT(errors(build("0.1") + count_min(R"("op":"delete","at":{"record":5})") +
                     build("0.2", R"(,"at":{"record":6})")),
              IsEmpty());
}

TEST_F(RequestCheck, KnowsTheOrderAtOnePlace) {
  const std::string query = count_min(R"("op":"query","query":5,"at":{"record":7})");
  EXPECT_THAT(errors(query + build("0.1", R"(,"at":{"record":7})")),
              ElementsAre(HasSubstr("request 1 (query CountMin of D/A price): its synopsis is "
                                    "built only later")));
  EXPECT_THAT(errors(build("0.1", R"(,"at":{"record":7})") + query), IsEmpty());
  EXPECT_THAT(errors(query + build("0.1")), IsEmpty());
  // The input may end with that very record.
  EXPECT_THAT(errors(build("0.1", R"(,"at":{"end":true})") + query), IsEmpty());
  EXPECT_THAT(errors(query + build("0.1", R"(,"at":{"end":true})")),
              ElementsAre(HasSubstr("request 1 ")));
  // A time and a record cannot be compared.
  EXPECT_THAT(errors(query + build("0.1", R"(,"at":{"time":"2019-01-02"})")), IsEmpty());
}

TEST_F(RequestCheck, LetsAContinuousQueryFollowItsBuildInItsFileOnly) {
  const std::string later = build("0.1", R"(,"at":{"record":7})");
  const std::string query = count_min(R"("op":"query","query":5,"continuous":true)");
  EXPECT_THAT(errors(query + later), IsEmpty());
  EXPECT_THAT(errors_of({file(later), file(query)}),
              ElementsAre(HasSubstr("its synopsis is built only later")));
}

TEST_F(RequestCheck, KnowsThatTheEngineAnswersNoWindowLateEnough) {
  const std::string windows = build("0.1", R"(,"window":{"size":"1m","slide":"10s"})");
  const std::string query = count_min(R"("op":"query","query":5,"continuous":true)");
  EXPECT_THAT(errors(windows + query, Period{60 * kNanosPerSecond, 0}),
              ElementsAre(HasSubstr("request 2 (query CountMin of D/A price): answers come every "
                                    "60 s, but the windows slide every 10 s")));
  EXPECT_THAT(errors(windows + query, Period{10 * kNanosPerSecond, 0}), IsEmpty());
  EXPECT_THAT(errors(windows + query, Period{0, 1000}), IsEmpty());
  EXPECT_THAT(errors(windows + query), IsEmpty());
  EXPECT_THAT(
      errors(windows + count_min(R"("op":"query","query":5)"), Period{60 * kNanosPerSecond, 0}),
      IsEmpty());
}

TEST_F(RequestCheck, TakesTheSynopsisOfEveryStreamForThatOfOne) {
  EXPECT_THAT(errors(dft("") + ask_dft("A", "null") + ask_dft("B", R"(["with","C"])")), IsEmpty());
  EXPECT_THAT(errors(dft("") + ask_dft("", "null")),
              ElementsAre(HasSubstr("over a dataset every stream has a DFT of its own")));
  EXPECT_THAT(errors(dft("A") + ask_dft("B", "null")),
              ElementsAre(HasSubstr("no request builds this synopsis")));
}

TEST_F(RequestCheck, ChecksQueriesOfTwoStreams) {
  const std::string pair = ask_dft("A", R"(["with","B"])");
  EXPECT_THAT(errors(dft("A") + dft("B") + pair), IsEmpty());
  EXPECT_THAT(errors(dft("A") + dft("") + pair), IsEmpty());
  EXPECT_THAT(errors(dft("A") + pair),
              ElementsAre(HasSubstr("stream \"B\": no request builds this synopsis")));
  EXPECT_THAT(errors(dft("A") + dft("B", R"(,"at":{"record":5})") +
                     ask_dft("A", R"(["with","B"])", R"(,"at":{"record":4})")),
              ElementsAre(HasSubstr("stream \"B\": its synopsis is built only later")));
  EXPECT_THAT(errors(dft("A") + dft("B", "", 5) + pair),
              ElementsAre(HasSubstr("of this stream and of \"B\" have different parameters")));
  EXPECT_THAT(errors(dft("A") + ask_dft("A", R"(["with"])")),
              ElementsAre(HasSubstr("[\"with\", stream] names the stream to compare with")));
  const std::string ams = R"("field":"price","op":"build","params":{"depth":3,"buckets":10})";
  EXPECT_THAT(errors(request("AMS", "A", ams) + request("AMS", "B", ams) +
                     request("AMS", "A",
                             R"("op":"query","field":"price",)"
                             R"("query":["innerProduct","B"])")),
              IsEmpty());
  // Windows that count values are not of one time.
  const std::string values =
      R"("op":"build","field":"price","params":{"window":64,"slide":8,"coefficients":4})";
  EXPECT_THAT(errors(request("DFT", "A", values) + request("DFT", "B", values) + pair),
              ElementsAre(HasSubstr("needs windows on one time grid")));
}

TEST_F(RequestCheck, ChecksSearchesOverStreams) {
  const std::string search = ask_dft("", R"(["correlated",0.9])");
  EXPECT_THAT(errors(dft("") + search), IsEmpty());
  EXPECT_THAT(errors(dft("A") + dft("B") + search), IsEmpty());
  EXPECT_THAT(errors(search), ElementsAre(HasSubstr("no request builds this synopsis")));
  EXPECT_THAT(errors(dft("A") + dft("B", "", 5) + search),
              ElementsAre(HasSubstr("request 3 (query DFT of D/* price): DFT of streams \"A\" and "
                                    "\"B\" have different parameters")));
  EXPECT_THAT(errors(dft("A") + dft("B", "", 5) + dft("") + search), IsEmpty());
  EXPECT_THAT(errors(dft("A") + dft("B", R"(,"at":{"record":5})", 5) + search), IsEmpty());
  EXPECT_THAT(errors(dft("") + ask_dft("A", R"(["correlated",0.9])")),
              ElementsAre(HasSubstr("searches all streams of a dataset; leave the stream out")));
  EXPECT_THAT(errors(dft("") + ask_dft("", R"(["correlated",2])")),
              ElementsAre(HasSubstr("[\"correlated\", T] with a correlation T")));
}

TEST_F(RequestCheck, ChecksSavesAndLoadsWithoutReadingFiles) {
  const std::string save = R"({"dataSetKey":"D","streamID":"A","synopsisID":1,)"
                           R"("param":["SAVE_REQUEST","cm"])";
  const std::string load = R"({"dataSetKey":"D","streamID":"A","synopsisID":1,)"
                           R"("param":["LOAD_REQUEST","cm"])";
  EXPECT_THAT(errors(build("0.1") + save + "}"), IsEmpty());
  EXPECT_THAT(errors(save + "}"),
              ElementsAre(HasSubstr("request 1 (save CountMin of D/A): no request builds")));
  EXPECT_THAT(errors(build("0.1") +
                     request("CountMin", "A",
                             R"("op":"build","field":"volume","params":)"
                             R"({"epsilon":0.1,"confidence":0.9})") +
                     save + "}"),
              ElementsAre(HasSubstr("it stands on several fields (price, volume)")));
  // What a file brings is known to the run alone.
  EXPECT_THAT(errors(load + "}" + count_min(R"("op":"query")") + count_min(R"("op":"delete")") +
                     save + "}"),
              IsEmpty());
  EXPECT_THAT(errors(load + "}" + build("0.1") + build("0.2")), IsEmpty());
  EXPECT_THAT(errors(count_min(R"("op":"load","path":"x")") + count_min(R"("op":"query")")),
              IsEmpty());
  const std::string saved = count_min(R"("op":"save","path":"cm",)"
                                      R"("at":{"record":9})");
  const std::string loaded = R"("op":"load","path":"cm","at":{"record":)";
  EXPECT_THAT(errors(build("0.1") + saved + count_min(loaded + "9}")),
              ElementsAre(HasSubstr("cm is saved at this very position; load it at a later one")));
  EXPECT_THAT(errors(build("0.1") + saved + count_min(loaded + "10}")), IsEmpty());
  EXPECT_THAT(
      errors(build("0.1") + saved + saved),
      ElementsAre(HasSubstr("request 3 (save CountMin of D/A price): cm is saved to at this")));
  // The save may come to nothing.
  EXPECT_THAT(errors(build("0.1", R"(,"at":{"record":8})") + saved + count_min(loaded + "9}")),
              IsEmpty());
  EXPECT_THAT(errors(dft("") + request("DFT", "", R"("op":"save","field":"price","path":"x")")),
              ElementsAre(HasSubstr("name the stream to save")));
  EXPECT_THAT(errors(dft("") + request("DFT", "B", R"("op":"save","field":"price","path":"x")")),
              IsEmpty());
  EXPECT_THAT(errors(request("DFT", "", R"("op":"load","path":"x")")),
              ElementsAre(HasSubstr("DFT is one stream's; name the stream")));
}

TEST_F(RequestCheck, NamesEveryKindOfRequest) {
  EXPECT_THAT(errors(R"({"op":"plugin","path":"x.so"} {"op":"list","what":1})"),
              ElementsAre(HasSubstr("request 1 (plugin): no plug-in directory is set"),
                          HasSubstr("request 2 (list): unknown key")));
}

}  // namespace
}  // namespace weir::replay
