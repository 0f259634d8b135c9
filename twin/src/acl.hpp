// SPDX-License-Identifier: Apache-2.0
// What the files with the host's functions share.
#pragma once

#include <string>

#include "acl/acl.h"

namespace twin {

// Keeps the message for aclGetRecentErrMsg; returns the code.
aclError acl_fail(aclError code, std::string why);

}  // namespace twin
