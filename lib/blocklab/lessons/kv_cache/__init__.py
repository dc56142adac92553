"""The lesson kv_cache: keys and values that are kept, and what they cost."""
