package pictures

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// The size of a picture. A comment of comments.html is commentWidth pixels wide, and a picture
// has scale pixels for each, for screens that have so many.
const (
	commentWidth = 794
	scale        = 2
)

// drawComment returns a picture of a comment with its folds closed or open. Its height was
// measured.
func drawComment(t *testing.T, browser string, source []byte, open bool, measured float64) *image.RGBA {
	t.Helper()
	height := int(math.Ceil(measured))
	file := filepath.Join(t.TempDir(), "comment.png")
	// A window is higher than the page in it.
	openPage(t, browser, commentFiles(t, open, source), "--screenshot="+file, "--hide-scrollbars",
		"--window-size="+strconv.Itoa(commentWidth)+","+strconv.Itoa(height+200),
		"--force-device-scale-factor="+strconv.Itoa(scale))
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	cropped := image.NewRGBA(image.Rect(0, 0, commentWidth*scale, height*scale))
	if !cropped.Rect.In(picture.Bounds()) {
		t.Fatalf("the browser drew %v of %v", picture.Bounds(), cropped.Rect)
	}
	draw.Draw(cropped, cropped.Rect, picture, image.Point{}, draw.Src)
	return cropped
}

// writePNG writes a picture with at most 256 colors, which suffice for a text and need a third
// of the bytes. The metadata of the picture have the source from which it was drawn, unless that
// is "".
func writePNG(t *testing.T, name string, picture *image.RGBA, source string) {
	t.Helper()
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	var out bytes.Buffer
	if err := encoder.Encode(&out, reduceColors(picture)); err != nil {
		t.Fatal(err)
	}
	content := out.Bytes()
	if source != "" {
		content = addText(content, "Source", source)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// reduceColors returns a picture with its 256 most frequent colors. The other pixels get the
// nearest of them.
func reduceColors(picture *image.RGBA) *image.Paletted {
	bounds := picture.Bounds()
	count := map[color.RGBA]int{}
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			count[picture.RGBAAt(x, y)]++
		}
	}
	byFrequency := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range byFrequency[:min(256, len(byFrequency))] {
		palette = append(palette, c)
	}
	nearest := map[color.RGBA]uint8{}
	for _, c := range byFrequency {
		nearest[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(bounds, palette)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			out.SetColorIndex(x, y, nearest[picture.RGBAAt(x, y)])
		}
	}
	return out
}

// headerLength is the length of a PNG's signature and of its first chunk, which is the header.
const headerLength = 8 + 25

// addText returns a PNG with a text in its metadata, after the header.
// Source: W3C, Portable Network Graphics, tEXt.
func addText(content []byte, keyword, text string) []byte {
	data := []byte("tEXt" + keyword + "\x00" + text)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)-len("tEXt")))
	chunk = append(chunk, data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(data))
	return slices.Concat(content[:headerLength], chunk, content[headerLength:])
}
