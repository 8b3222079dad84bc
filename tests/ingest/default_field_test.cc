#include "ingest/default_field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace weir::ingest {
namespace {

Layout named(const char* name) { return *layout_by_name(name); }
Layout mapped(const std::string& toml) {
  auto layout = parse_mapping(toml, "test.toml");
  EXPECT_TRUE(layout.ok()) << layout.status().message();
  return *layout;
}
// The field, "?" where the bytes do not say, or the message of the error.
std::string found(const Layout& layout, std::string_view bytes) {
  const auto field = default_field(layout, bytes);
  if (!field.ok()) return field.status().message();
  return field->value_or("?");
}

TEST(DefaultField, OfPushedTuplesIsTitans) {
  Layout tuples;
  tuples.kind = LayoutKind::kTuples;
  EXPECT_EQ(found(tuples, ""), "valueInW");
}

TEST(DefaultField, OfJsonIsTheOnlyNumberOrTitans) {
  const Layout titan = named("titan"), saams = named("saams");
  EXPECT_EQ(found(titan, R"({"identifier":"s","timestamp":1574000000000,"valueInW":1,"x":2})"),
            "valueInW");
  EXPECT_EQ(found(titan, R"({"identifier":"s","timestamp":1574000000000,"flow":2})"), "flow");
  EXPECT_EQ(found(saams, R"({"streamID":"s","dataSetKey":"D","valueInW":1,"x":2})"), "valueInW");
  EXPECT_EQ(found(saams, R"({"streamID":"s","dataSetKey":"D","timestamp":1,"note":"a","v":1})"),
            "v");
  EXPECT_EQ(found(saams, "\n{broken\n{\"streamID\":\"s\",\"dataSetKey\":\"D\",\"v\":1}\n"), "v");
  EXPECT_EQ(found(saams, R"({"streamID":"s","dataSetKey":"D","price":1,"volume":2})"),
            "field: the records have price and volume; name one of them");
  const std::string text_only = R"({"streamID":"s","dataSetKey":"D","note":"a"})";
  EXPECT_EQ(found(saams, text_only), "?");
  EXPECT_EQ(found(saams, text_only + "\n{\"streamID\":\"s\",\"x\":1}\n" +
                             "{\"streamID\":\"s\",\"dataSetKey\":\"D\",\"v\":1}\n"),
            "v");
  EXPECT_EQ(found(saams, ""), "?");
  EXPECT_EQ(found(saams, "[1]\nnonsense\n"), "?");
}

TEST(DefaultField, OfTicksIsOneOfTwo) {
  EXPECT_THAT(found(named("ticks"), "01/02/2019,00:00:01,6.0654,1\n"),
              testing::HasSubstr("price and volume"));
}

TEST(DefaultField, OfAMappingIsAmongThoseItDeclares) {
  const std::string csv = "format='csv'\nstream='id'\ndataset_constant='D'\ntime='t'\n";
  EXPECT_EQ(found(mapped(csv + "fields=['v']\n"), ""), "v");
  EXPECT_EQ(found(mapped(csv + "fields=['v','valueInW']\n"), ""), "valueInW");
  EXPECT_THAT(found(mapped(csv + "fields=['v','w']\n"), ""), testing::HasSubstr("v and w"));
}

TEST(DefaultField, OfCsvIsTheOnlyColumnOfNumbers) {
  const Layout csv = mapped("format='csv'\nstream='id'\ndataset_constant='D'\ntime='t'\n");
  EXPECT_EQ(found(csv, "id,t,v,note\na,1,2.5,x\n"), "v");
  EXPECT_EQ(found(csv, "\nid,t,v,note\n\n7,1,\"2.5\",\"x\ny\"\n"), "v");
  EXPECT_EQ(found(csv, "id,t,v,w\na,1,2.5,3\n"),
            "field: the records have v and w; name one of them");
  EXPECT_EQ(found(csv, "id,t,valueInW,w\na,1,2.5,3\n"), "valueInW");
  EXPECT_EQ(found(csv, "id,t,v\n"), "?");
  EXPECT_EQ(found(csv, "id,t,v\na,1,\na,1,n/a\na,1,7\n"), "v");
  EXPECT_EQ(found(mapped("format='csv'\nheader=false\nstream=0\ndataset_constant='D'\ntime=1\n"),
                  "a,1,2.5,x\n"),
            "2");
}

}  // namespace
}  // namespace weir::ingest
