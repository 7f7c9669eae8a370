"""The whole path, through the face that users see."""
