// SPDX-FileCopyrightText: The Assay authors
// SPDX-License-Identifier: Apache-2.0
#include "reports/size_text.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(SizeText, IsWrittenInTheLargestUnitAndReadBack) {
  const std::pair<std::int64_t, const char*> sizes[] = {{0, "0B"},
                                                        {1, "1B"},
                                                        {1023, "1023B"},
                                                        {1536, "1536B"},
                                                        {3 << 10, "3KiB"},
                                                        {std::int64_t{6} << 30, "6GiB"},
                                                        {kLargestSize, "1048576GiB"}};
  for (const auto& [bytes, text] : sizes) {
    EXPECT_EQ(size_text(bytes), text);
    EXPECT_EQ(parse_size(text), bytes) << text;
  }
}

TEST(SizeText, WhatIsNoSizeIsNone) {
  for (const char* text : {"", "B", "5", "1.5GiB", "-1B", "1kib", "1 KiB", " 1KiB", "1KiB ", "1GB",
                           "1048577GiB", "99999999999999999999B", "0x10B"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

}  // namespace
}  // namespace assay
