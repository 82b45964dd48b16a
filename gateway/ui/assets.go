package ui

import (
	"embed"
	"net/http"
	"path"
)

//go:embed assets/page.css assets/page.js assets/icon.svg
var assetFiles embed.FS

// assetTypes are the types of the files of the page: browsers do not guess them.
var assetTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// serveAsset answers with a file of the page.
func serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	content, err := assetFiles.ReadFile(path.Join("assets", path.Base(name)))
	kind, known := assetTypes[path.Ext(name)]
	if err != nil || !known || path.Base(name) != name {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	if r.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}
