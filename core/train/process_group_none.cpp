// Stands in for process_group_c10d.cpp where Gloo's headers are not installed.
#include "core/train/process_group.h"

namespace cuset {

std::unique_ptr<ProcessGroup> connect_ranks(const RankEnvironment&) {
    throw Error(ErrorCode::unsupported,
                "this program was built without Gloo's headers (libgloo-dev); start one rank only");
}

} // namespace cuset
