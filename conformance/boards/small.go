package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"slices"
)

// mostColors is the number of colors of a small picture. A chart has few, and the rest are
// shades at the edges of letters and lines.
const mostColors = 96

// shrinkPicture gives a PNG file the colors that most of its pixels have, and cuts off the
// empty lines at its end.
func shrinkPicture(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments, want PICTURE", len(args))
	}
	file, err := os.Open(args[0])
	if err != nil {
		return err
	}
	picture, err := png.Decode(file)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	counts := map[color.RGBA]int{}
	area := picture.Bounds()
	area.Max.Y = lastLine(picture) + 1
	eachPixel(area, func(x, y int) { counts[shade(picture.At(x, y))]++ })
	shades := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return int(a.R)<<16 + int(a.G)<<8 + int(a.B) - int(b.R)<<16 - int(b.G)<<8 - int(b.B)
	})
	var palette color.Palette
	for _, c := range shades[:min(mostColors, len(shades))] {
		palette = append(palette, c)
	}
	small := image.NewPaletted(area, palette)
	nearest := map[color.RGBA]uint8{}
	for _, c := range shades {
		nearest[c] = uint8(palette.Index(c))
	}
	eachPixel(area, func(x, y int) { small.SetColorIndex(x, y, nearest[shade(picture.At(x, y))]) })
	out, err := os.Create(args[0])
	if err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(out, small); err != nil {
		return err
	}
	return out.Close()
}

// lastLine returns the last line of a picture that is not of one color.
func lastLine(picture image.Image) int {
	area := picture.Bounds()
	for y := area.Max.Y - 1; y > area.Min.Y; y-- {
		for x := area.Min.X; x < area.Max.X; x++ {
			if picture.At(x, y) != picture.At(area.Min.X, y) {
				return y
			}
		}
	}
	return area.Min.Y
}

// shade returns a color without its lowest bits.
func shade(c color.Color) color.RGBA {
	r, g, b, _ := c.RGBA()
	return color.RGBA{uint8(r>>8) | 7, uint8(g>>8) | 7, uint8(b>>8) | 7, 255}
}

func eachPixel(area image.Rectangle, visit func(x, y int)) {
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			visit(x, y)
		}
	}
}
