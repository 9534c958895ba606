// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "weftline/core/ids.hpp"
#include "weftline/graph/lifecycle_receipt.hpp"

namespace weftline::runtime {

/// One accepted request. `view` changes under the board's mutex; the rest is the controller's once
/// it has been taken.
struct RestartTransaction {
  VertexId target{};
  std::string place{};
  ReceiptView view{};
};

/// What receipts are read under, when their session is long gone, too.
struct RestartBoard {
  std::mutex mutex{};
  std::condition_variable changed{};  ///< Some transaction has become final.
};

/// Reads what becomes of one request. Its own fields are under the board's mutex once another
/// thread may know of it.
struct RestartReceipt final : public ReceiptSource {
  explicit RestartReceipt(std::shared_ptr<RestartBoard> the_board) : board(std::move(the_board)) {}
  ReceiptView view() const override;
  bool wait_until(std::chrono::steady_clock::time_point deadline) const override;

  const std::shared_ptr<RestartBoard> board;
  /// Its own, or that of an earlier request, which takes it along.
  std::shared_ptr<RestartTransaction> transaction{std::make_shared<RestartTransaction>()};
  std::uint64_t id{0};
  std::string reason{};
};

}  // namespace weftline::runtime
