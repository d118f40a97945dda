/** The share of light of a channel between 0 and 255, by WCAG 2. */
function readLight(channel: number): number {
  const share = channel / 255
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
}

function readLuminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => readLight(Number.parseInt(color.slice(at, at + 2), 16)))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text)

/** The contrast of two colours such as `#102040`, between 1 and 21. Null if one of them is no colour. */
export function computeContrast(one: string, other: string): number | null {
  if (!isColor(one) || !isColor(other)) return null
  const [light = 0, dark = 0] = [readLuminance(one), readLuminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}
