#include "cli/cluster.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "cli/tell.h"
#include "cli/verbs.h"
#include "codec/json_writer.h"
#include "engine/world.h"
#include "sim/shapes.h"

#include <fmt/format.h>

#include <map>

namespace muster::cli {

namespace {

std::string write_json(const sim::FreeShapes& shapes) {
    JsonWriter out;
    out.begin_object().key("nodes").begin_list();
    for (const sim::NodeShape& shape : shapes.nodes) {
        out.begin_object()
            .member("model", shape.model)
            .member("gpus", shape.gpus)
            .member("free", shape.free)
            .member("total", shape.total)
            .member("free_gpus", shape.free_gpus)
            .end_object();
    }
    out.end_list().key("domains").begin_list();
    for (const sim::DomainShape& shape : shapes.domains) {
        out.begin_object()
            .member("level", shape.level)
            .member("free", shape.free)
            .member("total", shape.total)
            .end_object();
    }
    out.end_list().key("mig").begin_list();
    for (const sim::MigShape& shape : shapes.mig) {
        out.begin_object()
            .member("model", shape.model)
            .member("profile", shape.profile)
            .member("fits", shape.fits)
            .end_object();
    }
    out.end_list().key("gangs").begin_list();
    for (const sim::GangShape& shape : shapes.gangs) {
        out.begin_object()
            .member("level", shape.level)
            .member("model", shape.model)
            .member("gpus", shape.gpus)
            .member("tasks", shape.tasks)
            .member("domain", shape.domain)
            .end_object();
    }
    out.end_list().end_object();
    return out.take() + '\n';
}

std::string model_or_any(const std::string& model) { return model.empty() ? "unknown" : model; }

/// One row per level, one column per size of task.
void write_gangs(const sim::FreeShapes& shapes, const Paint& paint, std::ostream& out) {
    Table table({{"largest gang in one"},
                 {"gpu"},
                 {"gpu/task", Align::right},
                 {"tasks", Align::right},
                 {"where"}});
    for (const sim::GangShape& shape : shapes.gangs) {
        table.add({shape.level, model_or_any(shape.model), fmt::format("{}", shape.gpus),
                   with_commas(shape.tasks), shape.domain});
    }
    if (!table.is_empty()) { out << '\n' << table.text(paint); }
}

}  // namespace

Result<int> tell_shapes(const World& world, Format format, Terminal& terminal) {
    const sim::FreeShapes shapes = sim::free_shapes(world);
    if (format == Format::json) {
        terminal.out << write_json(shapes);
        return exit_good;
    }
    const Paint paint(terminal.has_colour);
    Table nodes({{"free shape"}, {"gpu"}, {"free", Align::right}, {"of", Align::right}, {"note"}});
    for (const sim::NodeShape& shape : shapes.nodes) {
        nodes.add({fmt::format("whole {}-GPU node", shape.gpus), model_or_any(shape.model),
                   with_commas(shape.free), with_commas(shape.total),
                   plural(shape.free_gpus, "free GPU") + " in all"});
    }
    for (const sim::DomainShape& shape : shapes.domains) {
        nodes.add(
            {"whole " + shape.level, "", with_commas(shape.free), with_commas(shape.total), ""});
    }
    for (const sim::MigShape& shape : shapes.mig) {
        nodes.add({"MIG " + shape.profile, model_or_any(shape.model), with_commas(shape.fits), "",
                   "if nothing else is cut"});
    }
    terminal.out << nodes.text(paint);
    write_gangs(shapes, paint, terminal.out);
    return exit_good;
}

Result<int> run_verb(const ShapesOptions& options, Terminal& terminal) {
    if (asks_remote(options.cluster)) {
        return tell_remote(options.cluster, {.path = "shapes"}, options.format, terminal);
    }
    MUSTER_TRY(cluster, load_cluster(options.cluster));
    return tell_shapes(cluster.engine.world(), options.format, terminal);
}

}  // namespace muster::cli
