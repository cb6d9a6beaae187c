-- Search: one index of words for rank, one of three-character pieces for substrings and for
-- scripts without spaces. Neither keeps a copy of the text; both read it through the view.
-- The two line ends after the text make every character begin a piece, so that one or two
-- characters can be found too.

-- What a search filters and sorts by, without the texts: thousands of finds are looked at in a few pages.
CREATE INDEX messages_marks ON messages (id, at, active, session, role);

CREATE VIEW message_text (id, text) AS
SELECT id, ifnull(content, '') || char(10) || ifnull(tool_name, '') || char(10) || ifnull(tool_calls, '') || char(10, 10)
FROM messages;

CREATE VIRTUAL TABLE message_words USING fts5 (
    text, content = 'message_text', content_rowid = 'id', tokenize = "unicode61 remove_diacritics 1"
);
CREATE VIRTUAL TABLE message_pieces USING fts5 (
    text, content = 'message_text', content_rowid = 'id', tokenize = "trigram case_sensitive 0 remove_diacritics 1"
);

CREATE TRIGGER messages_indexed AFTER INSERT ON messages BEGIN
    INSERT INTO message_words (rowid, text) SELECT id, text FROM message_text WHERE id = new.id;
    INSERT INTO message_pieces (rowid, text) SELECT id, text FROM message_text WHERE id = new.id;
END;
CREATE TRIGGER messages_forgotten BEFORE DELETE ON messages BEGIN
    INSERT INTO message_words (message_words, rowid, text) SELECT 'delete', id, text FROM message_text WHERE id = old.id;
    INSERT INTO message_pieces (message_pieces, rowid, text) SELECT 'delete', id, text FROM message_text WHERE id = old.id;
END;

INSERT INTO message_words (message_words) VALUES ('rebuild');
INSERT INTO message_pieces (message_pieces) VALUES ('rebuild');

-- The pieces that occur anywhere; keeps nothing of its own.
CREATE VIRTUAL TABLE message_piece_list USING fts5vocab (message_pieces, row);
