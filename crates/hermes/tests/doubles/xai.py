"""xAI's Responses API with its search of X, as its documentation describes it."""

from service import Double, Refusal

double = Double("/v1")
POST = "https://x.com/i/status/1"


def before(asked):
    if asked.headers.get("authorization") != "Bearer good-key":
        raise Refusal(400, {"code": "invalid-argument", "error": "Incorrect API key provided: ba***ey."})


double.before = before


@double.route("POST", "/responses")
def responses(asked):
    search = asked.body["tools"][0]
    known = {"type", "allowed_x_handles", "excluded_x_handles", "from_date", "to_date", "enable_image_understanding", "enable_video_understanding"}
    if search["type"] != "x_search" or not set(search) <= known or {"allowed_x_handles", "excluded_x_handles"} <= set(search):
        raise Refusal(422, {"code": "invalid-argument", "error": "Failed to deserialize the JSON body"})
    cited = "nobody" not in search.get("allowed_x_handles", [])
    note = {"type": "url_citation", "url": POST, "title": "1", "start_index": 13, "end_index": 20}
    text = {"type": "output_text", "text": "People like it.", "annotations": [note] if cited else [], "logprobs": []}
    return {
        "id": "r1", "object": "response", "created_at": 1700000000, "completed_at": 1700000001, "status": "completed", "model": asked.body["model"], "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": 0.7, "top_p": 0.95, "tool_choice": "auto", "tools": [], "store": False, "max_output_tokens": None, "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None}, "text": {"format": {"type": "text"}}, "truncation": "disabled", "user": None, "citations": [POST] if cited else [],
        "usage": {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0}, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15},
        "output": [{"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": [text]}],
    }


if __name__ == "__main__":
    double.serve()
