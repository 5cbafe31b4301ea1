from .generate import Job as Job, Renderer as Renderer
