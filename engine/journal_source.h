// JournalSource: a source that cannot be read again, made one that a run can be resumed with: what
// is read of it is in the journal before anybody sees it.
//
// A run that is resumed gets what the journal holds from its position on, and then what comes from
// the source, which is to go on at live_from(), since that far its sender need
// not repeat anything. (A compressed one goes on with a new member or frame that holds what follows
// there.) The end of a source is not in the journal, unless bytes of the one behind
// it are: else a resumed run waits for its sender again.
//
// Invariants
//  1. A byte is given out only after the journal has taken it; one that was read and not taken yet
//     is kept, and nothing more is read before that.
//  2. Offsets count decompressed bytes from the beginning of the source, over all runs.
// Thread safety: single-writer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/array.h"
#include "engine/journal.h"
#include "weir/source.h"

namespace weir::engine {

class JournalSource final : public Source {
 public:
  // `journal` outlives it; `source` is its number among the inputs. `whole`: all of it is in the
  // journal, and nothing more is asked of `inner`.
  JournalSource(std::unique_ptr<Source> inner, Journal& journal, std::uint32_t source,
                bool whole = false);

  ReadResult read(std::span<char> into) override;
  const std::string& name() const override { return inner_->name(); }
  // Where a resumed run goes on. Nothing of the inner source is skipped.
  Status skip(std::uint64_t bytes) override;
  std::optional<std::uint64_t> size() const override { return inner_->size(); }
  std::uint64_t position() const override { return inner_->position(); }
  // Where what the inner source gives comes to lie: the journal's end, or where the run goes on if
  // that is behind it.
  std::uint64_t live_from() const { return live_from_; }

 private:
  ReadResult give_kept(std::span<char> into);
  ReadResult fail(Status status);
  // Bytes at next_ + kept bytes. kData: the journal has them.
  ReadResult::State keep(std::string_view bytes, Status& error);

  std::unique_ptr<Source> inner_;
  Journal& journal_;
  const std::uint32_t source_;
  std::uint64_t next_ = 0;       // offset of the next byte to give out
  std::uint64_t live_from_ = 0;  // before it, the journal is read
  core::Array<char> kept_;       // read from inner_ and not given out, from taken_ on
  std::size_t taken_ = 0;
  bool journalled_ = false;  // kept_ is
  const bool whole_;
  bool ended_ = false;
};

}  // namespace weir::engine
