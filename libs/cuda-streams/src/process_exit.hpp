// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weftline::cuda_streams {

/// From the first call on, process exit is noticed. It must come after the CUDA runtime has
/// started, so that at exit the flag is set before the runtime takes itself down.
void watch_process_exit() noexcept;

/// True once exit handlers run: CUDA must not be called any more.
[[nodiscard]] bool process_exit_has_begun() noexcept;

}  // namespace weftline::cuda_streams
