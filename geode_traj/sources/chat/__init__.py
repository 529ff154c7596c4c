"""What formats of chat messages share: records as events, content and its media, OpenAI's messages."""
