/** A header's name and colon, by RFC 5322. */
export const mailHeader = /^[!-9;-~]+[ \t]*:/;

/** Headers that no other text begins with: `Warning: disk full` is a text. */
export const commonMailHeader =
  /^(?:from|to|cc|bcc|subject|date|sender|reply-to|message-id|in-reply-to|references|return-path|received|mime-version|auto-submitted|precedence|priority|importance|(?:content|resent|list|x)-[!-9;-~]+)[ \t]*:/i;
