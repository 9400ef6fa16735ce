"""WARC: records of crawlers, of which those with pages or plain texts are documents."""
