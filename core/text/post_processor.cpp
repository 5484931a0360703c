#include "core/text/post_processor.h"

#include <algorithm>
#include <string>

namespace cuset::text {
namespace {

std::int32_t token_id(const Node& node) {
    const Json& json = node.json();
    if (!json.is_number_integer() || json < 0 || json > 0x7fffffff)
        node.fail(ErrorCode::bad_format, "is " + json.dump().substr(0, 40) + ", needs a token id");
    return json.get<std::int32_t>();
}

void parse_template(const Node& node, PostProcessor& out) {
    const Node single = node.require_array("single");
    const Node specials = node.require_object("special_tokens");
    bool seen_text = false;
    for (std::size_t k = 0; k < single.json().size(); ++k) {
        const Node piece = single.element(k);
        piece.expect_object();
        if (piece.json().contains("Sequence")) {
            if (seen_text)
                piece.fail(ErrorCode::unsupported, "puts the text in a second time");
            seen_text = true;
            continue;
        }
        const std::string name = piece.require_object("SpecialToken").string("id");
        const Node ids = specials.require_object(name.c_str()).require_array("ids");
        for (std::size_t i = 0; i < ids.json().size(); ++i)
            (seen_text ? out.after : out.before).push_back(token_id(ids.element(i)));
    }
    if (!seen_text)
        single.fail(ErrorCode::bad_value, "has no place for the text (a Sequence)");
}

// RobertaProcessing and BertProcessing: ["</s>", 2] pairs around the text.
void parse_pair(const Node& node, PostProcessor& out) {
    for (const char* name : {"cls", "sep"}) {
        const Node pair = node.require_array(name);
        if (pair.json().size() != 2)
            pair.fail(ErrorCode::bad_format, "needs a token and its id");
        (name[0] == 'c' ? out.before : out.after).push_back(token_id(pair.element(1)));
    }
}

} // namespace

PostProcessor parse_post_processor(const Node& node) {
    PostProcessor out;
    if (node.json().is_null())
        return out;
    const std::string type = node.string("type");
    if (type == "TemplateProcessing") {
        parse_template(node, out);
    } else if (type == "RobertaProcessing" || type == "BertProcessing") {
        parse_pair(node, out);
    } else if (type == "Sequence") {
        const Node list = node.require_array("processors");
        for (std::size_t k = 0; k < list.json().size(); ++k) {
            const PostProcessor step = parse_post_processor(list.element(k));
            out.before.insert(out.before.begin(), step.before.begin(), step.before.end());
            out.after.insert(out.after.end(), step.after.begin(), step.after.end());
        }
    } else if (type != "ByteLevel") {
        node.fail(ErrorCode::unsupported,
                  "is " + type
                      + "; supported are TemplateProcessing, ByteLevel, "
                        "RobertaProcessing, BertProcessing and Sequence");
    }
    return out;
}

} // namespace cuset::text
