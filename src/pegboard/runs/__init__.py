"""Running calls: followed payloads with their events, cancellation, other processes, and replays."""
