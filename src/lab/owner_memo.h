// Who owns the fields of new objects, kept by what these look like: of the ten thousand nodes or
// pods that are made after one pattern only the first is walked along its schema. A field set
// depends on names and kinds of values, and only in lists on some of the values themselves.
#pragma once

#include "lab/apply.h"

#include <boost/json/fwd.hpp>

#include <memory>
#include <string_view>

namespace muster::lab {

class OwnerMemo {
public:
    OwnerMemo();
    ~OwnerMemo();

    /// As note_update with nothing before. `kind` together with the manager's version names the
    /// schema, which stays the same.
    void note_create(std::string_view kind, boost::json::value& object, const Schema& schema,
                     const Manager& manager);

private:
    struct Kept;
    std::unique_ptr<Kept> kept_;
};

}  // namespace muster::lab
