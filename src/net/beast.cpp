// The compiled part of Boost.Beast.
#include <boost/beast/src.hpp>
