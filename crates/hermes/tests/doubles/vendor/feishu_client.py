"""The double of Feishu, used by Lark's own client: whatever this prints or raises is a fault of the double."""

import sys

import lark_oapi as lark
from lark_oapi.api.docx.v1 import RawContentDocumentRequest
from lark_oapi.api.drive.v1 import (
    CreateFileCommentReplyRequest, CreateFileCommentReplyRequestBody, CreateFileCommentRequest, FileComment, FileCommentReply, ListFileCommentReplyRequest,
    ListFileCommentRequest, ReplyContent, ReplyElement, ReplyList, TextRun,
)

DOC, COMMENT = "doxcnGoodDocument1", "7000000000000000001"
client = lark.Client.builder().app_id("cli_good").app_secret("good-secret").domain(sys.argv[1]).log_level(lark.LogLevel.ERROR).build()


def fine(answer):
    assert answer.success(), (answer.code, answer.msg)
    return answer.data


def words(text):
    return ReplyContent.builder().elements([ReplyElement.builder().type("text_run").text_run(TextRun.builder().text(text).build()).build()]).build()


assert "Buy milk." in fine(client.docx.v1.document.raw_content(RawContentDocumentRequest.builder().document_id(DOC).build())).content
listed = ListFileCommentRequest.builder().file_token(DOC).file_type("docx").user_id_type("open_id").page_size(1).build()
page = fine(client.drive.v1.file_comment.list(listed))
assert page.items[0].quote == "milk" and page.has_more and page.page_token == "1"
replies = ListFileCommentReplyRequest.builder().file_token(DOC).comment_id(COMMENT).file_type("docx").user_id_type("open_id").page_size(100).build()
assert fine(client.drive.v1.file_comment_reply.list(replies)).items[0].content.elements[0].text_run.text == "which milk?"
body = CreateFileCommentReplyRequestBody.builder().content(words("oat")).build()
answer = CreateFileCommentReplyRequest.builder().file_token(DOC).comment_id(COMMENT).file_type("docx").user_id_type("open_id").request_body(body).build()
fine(client.drive.v1.file_comment_reply.create(answer))
comment = FileComment.builder().reply_list(ReplyList.builder().replies([FileCommentReply.builder().content(words("done")).build()]).build()).build()
add = CreateFileCommentRequest.builder().file_token(DOC).file_type("docx").user_id_type("open_id").request_body(comment).build()
assert fine(client.drive.v1.file_comment.create(add)).comment_id
closed = client.docx.v1.document.raw_content(RawContentDocumentRequest.builder().document_id("doxcnClosedDocument").build())
assert closed.code == 1770032, closed.code
