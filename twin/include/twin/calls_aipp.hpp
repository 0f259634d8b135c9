// SPDX-License-Identifier: Apache-2.0
// Images from GM into L1, changed on the way: SetAippFunctions and LoadImageToLocal.
#pragma once

#include "twin/types.hpp"

namespace twin {

struct Aipp {
  View image, chroma;  // chroma: U and V of YUV420SP, in turns
  bool has_chroma = false;
  std::uint8_t format = 0;         // AippInputFormat
  DType dtype = DType::I8;         // of what comes out
  std::uint32_t padding_mode = 0;  // a constant, the edge, the block beside, its mirror image
  float padding[4] = {};           // by channel
  bool swap_rb = false, swap_uv = false, swap_ax = false, single_line = false;
  std::uint8_t mean[4] = {};
  float min[4] = {}, var[4] = {1, 1, 1, 1};
  std::uint32_t round_mode = 0;
  std::uint32_t channel_mode = 0;  // 0: channels up to 32 bytes, 1: up to four
  float channel_padding = 0;
  bool csc = false;  // another colour space
  std::int16_t matrix[3][3] = {};
  std::uint8_t bias_in[3] = {}, bias_out[3] = {};
};
struct ImageWindow {  // in pixels
  std::uint32_t width, height, x, y, source_width, top, bottom, left, right;
};
void set_aipp(const Aipp& aipp);
void load_image_to_local(const View& dst, const ImageWindow& window, Site site);

}  // namespace twin
