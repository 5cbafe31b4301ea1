from .rendering import Job as Job, Renderer as Renderer
