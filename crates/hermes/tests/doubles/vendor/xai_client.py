"""The double of xAI, used by the client of the Responses API: whatever this raises is a fault of the double."""

import sys

from openai import OpenAI

client = OpenAI(base_url=sys.argv[1], api_key="good-key", max_retries=0)
said = client.responses.create(model="grok-4-fast", input=[{"role": "user", "content": "tea"}], tools=[{"type": "x_search", "from_date": "2026-01-01"}], store=False)
assert said.status == "completed" and said.output_text == "People like it.", said
assert said.output[0].content[0].annotations[0].url == "https://x.com/i/status/1"
