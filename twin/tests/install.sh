#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh BUILD FOLDER BINDIR SOURCE: what is installed works from wherever it is moved to, and knows nothing of the tree it was built in.
set -eu
build=$1 dir=$2 bin=$3 source=$4
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$dir"
mkdir -p "$dir/work"
cmake -DCMAKE_INSTALL_PREFIX="$dir/first" -P "$build/twin/cmake_install.cmake" >/dev/null
mv "$dir/first" "$dir/moved"
cp "$here/launch/main.cpp" "$here/launch/kernel.cpp" "$dir/work"
cd "$dir/work"
"$dir/moved/$bin/twincc" -v -Wall -Wextra -Werror main.cpp kernel.cpp -o app 2>commands.txt || { cat commands.txt; exit 1; }
./app
if grep -F "$source/twin/include" commands.txt; then
  echo "the installed twincc uses headers of the source tree"
  exit 1
fi
rm -rf "$dir/moved"/*/libtessera_twin.a "$dir/moved"/*/*/libtessera_twin.a
if "$dir/moved/$bin/twincc" main.cpp kernel.cpp -o app 2>missing.txt; then
  echo "linked without a library"
  exit 1
fi
grep -q "cannot find the twin's library: expected $dir/moved/" missing.txt || { cat missing.txt; exit 1; }
