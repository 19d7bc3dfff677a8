#include "src/locate/pieces.h"

namespace skid::locate {

void append_piece(Pieces& pieces, const perfdata::StoredRecords& samples, std::uint64_t most) {
  if (!extend_piece(pieces, samples, most)) pieces.push_back(samples);
}

bool extend_piece(Pieces& pieces, const perfdata::StoredRecords& record, std::uint64_t most) {
  const bool follows = !pieces.empty() && pieces.back().segment == record.segment &&
                       pieces.back().end == record.begin && pieces.back().size() < most;
  if (follows) pieces.back().end = record.end;
  return follows;
}

}  // namespace skid::locate
