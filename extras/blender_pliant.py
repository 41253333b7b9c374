"""Loads a motion exported by Pliant into Blender in one call.

    pliant export DIR --format pc2 -o out
    blender --python extras/blender_pliant.py -- out

or, in Blender's Python console, after adding this folder to sys.path:

    import blender_pliant
    blender_pliant.load("out")

Every <body>.obj of the directory becomes an object whose vertices follow <body>.pc2 through a Mesh Cache modifier.
"""
import os
import struct
import sys

import bpy


def read_obj(path):
    """Vertices and faces in file order. Blender's own importer may reorder, and a cache depends on the order."""
    vertices, faces = [], []
    with open(path) as file:
        for line in file:
            words = line.split()
            if words[:1] == ["v"]:
                vertices.append(tuple(float(w) for w in words[1:4]))
            elif words[:1] == ["f"]:
                faces.append(tuple(int(w.split("/")[0]) - 1 for w in words[1:]))
    return vertices, faces


def load(directory, up="Y"):
    """Adds all bodies of an exported directory to the scene and returns their objects. `up`: the exporter's up axis."""
    objects, last_frame = [], 1
    for name in sorted(os.listdir(directory)):
        stem, extension = os.path.splitext(name)
        cache = os.path.join(os.path.abspath(directory), stem + ".pc2")
        if extension != ".obj" or not os.path.exists(cache):
            continue
        mesh = bpy.data.meshes.new(stem)
        vertices, faces = read_obj(os.path.join(directory, name))
        mesh.from_pydata(vertices, [], faces)
        mesh.update()
        for polygon in mesh.polygons:
            polygon.use_smooth = True
        item = bpy.data.objects.new(stem, mesh)
        bpy.context.scene.collection.objects.link(item)
        modifier = item.modifiers.new("pliant", "MESH_CACHE")
        modifier.cache_format = "PC2"
        modifier.filepath = cache
        modifier.frame_start = 1
        if up == "Y":  # Blender has z up
            item.rotation_euler = (1.5707963267948966, 0, 0)
        with open(cache, "rb") as file:
            samples = struct.unpack("<12siiffi", file.read(32))[5]
        last_frame = max(last_frame, samples)
        objects.append(item)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last_frame
    return objects


if __name__ == "__main__" and "--" in sys.argv:
    for argument in sys.argv[sys.argv.index("--") + 1:]:
        load(argument)
