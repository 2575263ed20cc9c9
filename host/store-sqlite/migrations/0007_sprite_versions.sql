-- A name and a version name one sprite (D25): asked at every registration and change. Not UNIQUE: folders of earlier builds may hold two.
CREATE INDEX sprites_by_version ON sprites (name, version);
