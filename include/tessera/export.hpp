/* SPDX-License-Identifier: Apache-2.0 */
/* TESSERA_EXPORT marks what a shared build of the library shows; everything else is hidden. Plain C: tessera.h has it too.
 */
#ifndef TESSERA_EXPORT

#if defined(TESSERA_STATIC)
#define TESSERA_EXPORT
#elif defined(_WIN32) && defined(TESSERA_BUILDING)
#define TESSERA_EXPORT __declspec(dllexport)
#elif defined(_WIN32)
#define TESSERA_EXPORT __declspec(dllimport)
#else
#define TESSERA_EXPORT __attribute__((visibility("default")))
#endif

#endif
