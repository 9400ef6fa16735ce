"""WHAT DID A RUN MISS? A sample of its documents is compared with all, exactly."""
