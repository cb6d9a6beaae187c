-- What is written goes into the search indexes later, many messages at once: one at a time, most
-- of what a turn writes would be index. `up_to` is the newest message that is in them.

DROP TRIGGER messages_indexed;
DROP TRIGGER messages_forgotten;

CREATE TABLE search_index (up_to INTEGER NOT NULL) STRICT;
INSERT INTO search_index SELECT ifnull(max(id), 0) FROM messages;

CREATE TRIGGER messages_forgotten BEFORE DELETE ON messages WHEN old.id <= (SELECT up_to FROM search_index) BEGIN
    INSERT INTO message_words (message_words, rowid, text) SELECT 'delete', id, text FROM message_text WHERE id = old.id;
    INSERT INTO message_pieces (message_pieces, rowid, text) SELECT 'delete', id, text FROM message_text WHERE id = old.id;
END;
