// Placeholder source so that the room builds; replaced by its first real file.
