// SPDX-License-Identifier: Apache-2.0
#include "twin/calls_pad.hpp"

#include "library_rows.hpp"

namespace twin {

using namespace library;

namespace {

void check_pad(Instruction& i, const LibraryPad& c, std::uint32_t a_block, std::uint32_t filled) {
  const bool fills_blocks = c.columns % a_block == 0;
  if (c.rows == 0 || c.columns == 0 || c.used == 0 || c.used > c.columns)
    i.refuse(Kind::Limit, format("Pad of %u rows of %u columns, %u of them used", c.rows, c.columns, c.used),
             "fill in srcHeight, srcWidth and srcOriWidth of the tiling");
  if (fills_blocks && c.used == c.columns)
    i.refuse(Kind::Limit, format("Pad of rows of %u columns, which fill blocks of 32 bytes already", c.columns),
             "leave it out");
  if (fills_blocks && c.left)
    i.refuse(Kind::Limit, format("Pad: leftPad %u of rows that fill blocks of 32 bytes", c.left), "pad on the right only");
  if (!fills_blocks && c.used != c.columns)
    i.refuse(Kind::Limit, format("Pad: srcOriWidth %u, srcWidth %u, which does not fill blocks", c.used, c.columns),
             "give both the same width");
  if (c.left + c.used + c.right > filled)
    i.refuse(Kind::Limit,
             format("Pad: %u + %u + %u columns, more than the %u that fill blocks", c.left, c.used, c.right, filled),
             "pad up to the next 32 bytes at most");
}

// Copies an element with its state.
void copy(Instruction& i, const LibraryPad& c, States& ds, States& ss, std::uint64_t to, std::uint64_t from,
          std::uint32_t size) {
  std::memcpy(i.bytes(c.dst) + to * size, i.bytes(c.src) + from * size, size);
  ds.copy_from(ss, to * size, from * size, size);
}

}  // namespace

void library_pad(const LibraryPad& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_pad(call, site); }) {
    Instruction i(Pipe::V, "Pad", site);
    const std::uint32_t size = size_bytes(call.dst.dtype), a_block = kBlockBytes / size;
    const std::uint32_t filled = (call.columns + a_block - 1) / a_block * a_block;
    check_pad(i, call, a_block, filled);
    const std::uint64_t total = std::uint64_t{call.rows} * filled;
    Operands operands(i);
    operands.read(&call.src, std::uint64_t{call.rows} * call.columns, "the source");
    operands.write(&call.dst, total, "the destination");
    if (call.has_work) operands.work(&call.work, total * size);
    i.cost("OneVector", 2 * repeats(total, call.dst.dtype), call.dst.dtype);  // there and back by transposes: assumed
    if (i.issue()) {
      States ds(i, call.dst), ss(i, call.src);
      const std::uint8_t unused = left_padding(i);
      for (std::uint64_t r = 0; r < call.rows; ++r) {
        for (std::uint64_t c = 0; c < filled; ++c) {
          const std::uint64_t to = r * filled + c;
          if (c >= call.left && c < call.left + call.used) {
            copy(i, call, ds, ss, to, r * call.columns + c - call.left, size);
          } else {
            std::memcpy(i.bytes(call.dst) + to * size, &call.value, size);
            ds.set(to * size, size, c < call.left + call.used + call.right ? kDefined : unused);
          }
        }
      }
      operands.spoil_work();
    }
  }
  close(site);
}

void library_unpad(const LibraryPad& call, Site site) {
  TWIN_HOLD_BACK(Pipe::V, { library_unpad(call, site); }) {
    Instruction i(Pipe::V, "UnPad", site);
    const std::uint32_t size = size_bytes(call.dst.dtype), a_block = kBlockBytes / size;
    if (call.rows == 0 || call.columns == 0 || call.columns % a_block)
      i.refuse(Kind::Limit,
               format("UnPad of %u rows of %u columns: they do not fill blocks of 32 bytes", call.rows, call.columns),
               "fill in srcHeight and srcWidth of the tiling with rows of whole blocks");
    if (call.right == 0 || call.right >= a_block || call.right >= call.columns)
      i.refuse(Kind::Limit,
               format("UnPad: rightPad %u of %u columns: more than none, and less than 32 bytes", call.right, call.columns),
               "take whole blocks away with a copy");
    if (call.left) i.refuse(Kind::Limit, format("UnPad: leftPad %u, which has no effect on the chip", call.left), "0");
    const std::uint64_t kept = call.columns > call.right ? call.columns - call.right : 0;
    const std::uint64_t total = std::uint64_t{call.rows} * call.columns;
    Operands operands(i);
    operands.read(&call.src, total, "the source");
    operands.write(&call.dst, call.rows * kept, "the destination");
    if (call.has_work) operands.work(&call.work, total * size);
    i.cost("OneVector", 2 * repeats(total, call.dst.dtype), call.dst.dtype);  // as Pad
    if (i.issue()) {
      States ds(i, call.dst), ss(i, call.src);
      for (std::uint64_t r = 0; r < call.rows; ++r) {
        for (std::uint64_t c = 0; c < kept; ++c) copy(i, call, ds, ss, r * kept + c, r * call.columns + c, size);
      }
      operands.spoil_work();
    }
  }
  close(site);
}

}  // namespace twin
