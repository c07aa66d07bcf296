// The compiled part of Boost.Asio's TLS.
#include <boost/asio/ssl/impl/src.hpp>
