// SPDX-License-Identifier: Apache-2.0
// TESSERA_EXPORT marks what a shared build of the library shows; everything else is hidden.
#pragma once

#if defined(TESSERA_STATIC)
#define TESSERA_EXPORT
#elif defined(_WIN32)
#define TESSERA_EXPORT __declspec(dllexport)
#else
#define TESSERA_EXPORT __attribute__((visibility("default")))
#endif
