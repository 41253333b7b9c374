#!/usr/bin/env bash
# Installs what is missing from Debian's packages, by name; says nothing when all is there.
#   scripts/install-deps.sh demo   what the pliant command needs
#   scripts/install-deps.sh test   that, and the test and benchmark tools
#   scripts/install-deps.sh soak   that, and the programs that read exports back in the long tests
#   scripts/install-deps.sh sanitize what the tests need, and the compiler of the builds with sanitizers
#   scripts/install-deps.sh papers what the command and the papers' plots need
set -euo pipefail
what=${1:-demo}

missing=()
have_header() { # NAME: found where the compiler looks
    local dir
    for dir in /usr/include /usr/local/include /usr/include/"$(uname -m)"-linux-gnu; do
        [ -e "$dir/$1" ] && return 0
    done
    return 1
}
need_header() { have_header "$1" || missing+=("$2"); }
need_command() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need_file() { [ -e "$1" ] || missing+=("$2"); }

need_command g++ g++
need_command cmake cmake
need_command ninja ninja-build
need_header eigen3/Eigen/Core libeigen3-dev
need_header tbb/parallel_for.h libtbb-dev
need_header CGAL/Exact_predicates_inexact_constructions_kernel.h libcgal-dev
need_header yaml-cpp/yaml.h libyaml-cpp-dev
need_header nlohmann/json.hpp nlohmann-json3-dev
need_header CLI/CLI.hpp libcli11-dev
need_header spdlog/spdlog.h libspdlog-dev
need_header fmt/format.h libfmt-dev
need_header freetype2/ft2build.h libfreetype-dev
need_header GL/glu.h libglu1-mesa-dev
need_header embree3/rtcore.h libembree-dev
need_header stb/stb_image_write.h libstb-dev
need_header httplib.h libcpp-httplib-dev
need_file /usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf fonts-dejavu-core
if [ "$what" = test ] || [ "$what" = soak ] || [ "$what" = sanitize ]; then
    need_header gtest/gtest.h libgtest-dev
    need_header benchmark/benchmark.h libbenchmark-dev
    need_header boost/multiprecision/cpp_int.hpp libboost-dev
    need_command ffmpeg ffmpeg
    need_command node nodejs
    need_command npm npm
    need_command chromium chromium
    need_file /usr/lib/python3/dist-packages/numpy/__init__.py python3-numpy
fi
if [ "$what" = soak ]; then
    need_command blender blender
    need_file /usr/lib/python3/dist-packages/vtk.py python3-vtk9
fi
if [ "$what" = sanitize ]; then
    need_command clang++ clang
    need_command llvm-symbolizer llvm
    need_file "$(clang++ -print-resource-dir 2>/dev/null)/lib/linux/libclang_rt.asan-$(uname -m).a" libclang-rt-dev
fi
[ "$what" = papers ] && need_command gnuplot gnuplot-nox
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "install-deps: missing (Debian's names): ${missing[*]}; install them with your system's package manager" >&2
    exit 1
fi
sudo=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 ||
        { echo "install-deps: run as root, or install sudo; missing packages: ${missing[*]}" >&2; exit 1; }
    sudo=sudo
fi
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
$sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
