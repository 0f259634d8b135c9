// SPDX-License-Identifier: Apache-2.0
// The list of a tiling template's arguments, as an operator project writes it, and the key that its host side makes of
// values.
#include <gtest/gtest.h>

#include "ascendc/host_api/tiling/template_argument.h"

// The names inside are those of the vendor's host headers: the list is taken as it is written.
ASCENDC_TPL_ARGS_DECL(Shift, ASCENDC_TPL_DATATYPE_DECL(D_T_X, C_DT_FLOAT, C_DT_FLOAT16, ASCENDC_TPL_INPUT(0)),
                      ASCENDC_TPL_UINT_DECL(TILE_NUM, ASCENDC_TPL_4_BW, ASCENDC_TPL_UI_MIX, 2, 0, 2, 3, 5, 10, 12),
                      ASCENDC_TPL_UINT_DECL(WAYS, 5, ASCENDC_TPL_UI_LIST, 1, 17), ASCENDC_TPL_BOOL_DECL(SPLIT, 0, 1), );
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_DATATYPE_SEL(D_T_X, C_DT_FLOAT), ASCENDC_TPL_BOOL_SEL(SPLIT, 0)), );

namespace {

struct Context {
  void SetTilingKey(std::uint64_t given) { key = given; }
  std::uint64_t key = 0;
};

TEST(TemplateTiling, PutsValuesBesideEachOtherAsWideAsTheyAreDeclared) {
  EXPECT_EQ(GET_TPL_TILING_KEY(1, 10, 17, 1), 1u | 10u << 8 | 17u << 12 | 1u << 17);
  Context c;
  ASCENDC_TPL_SEL_PARAM(&c, 0, 2, 1, 0);
  EXPECT_EQ(c.key, 2u << 8 | 1u << 12);
}
TEST(TemplateTiling, NamesTheArgumentThatDoesNotFit) {
  for (const char* expected : {"TILE_NUM has fewer bits than its value", "SPLIT has no value", "SPLIT is the last one"}) {
    testing::internal::CaptureStderr();
    const std::uint64_t key = expected[0] == 'T'   ? GET_TPL_TILING_KEY(1, 16, 17, 1)
                              : expected[6] == 'h' ? GET_TPL_TILING_KEY(1, 10, 17)
                                                   : GET_TPL_TILING_KEY(1, 10, 17, 1, 0);
    EXPECT_EQ(key, AscendC::INVALID_TILING_KEY);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(expected), std::string::npos) << said;
  }
}

}  // namespace
