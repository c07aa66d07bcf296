// The compiled part of Boost.Asio; all other files of the folder only declare it.
#include <boost/asio/impl/src.hpp>
