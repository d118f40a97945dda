const number = String.raw`\d{1,4}(\.\d{1,3})?`
const length = `${number}(px|em|rem|pt|%)?`
const colour = String.raw`(#[0-9a-f]{3,8}|[a-z]{3,24}|rgba?\(\s*[\d.,%\s]{1,40}\))`

const whole = (pattern: string) => new RegExp(`^${pattern}$`, 'i')
const lengths = whole(`${length}( ${length}){0,3}`)

/** The allowed properties: those of text, and none that load, move or cover something. */
const allowed: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    color: whole(colour),
    'background-color': whole(colour),
    'text-align': /^(left|right|center|justify)$/i,
    'font-weight': /^(normal|bold|bolder|lighter|[1-9]00)$/i,
    'font-style': /^(normal|italic)$/i,
    'text-decoration': /^(none|underline|line-through)$/i,
    'font-size': whole(length),
    'font-family': /^[a-z\s,'-]{1,120}$/i,
    'line-height': whole(length),
    padding: lengths,
    margin: lengths,
    width: whole(length),
    'max-width': whole(length),
    border: whole(`${length} (solid|dashed|dotted) ${colour}`),
    'border-radius': whole(length),
  }),
)

/** The declarations that are allowed, for a `style` attribute; null when none is. */
export function safeStyle(style: string): string | null {
  if (style.length > 1000) return null
  const declarations = style.split(';').flatMap((declaration) => {
    const [property = '', ...rest] = declaration.split(':')
    const [name, value] = [property.trim().toLowerCase(), rest.join(':').trim()]
    return allowed.get(name)?.test(value) ? [`${name}: ${value.replaceAll("'", '&#39;')}`] : []
  })
  return declarations.length ? declarations.join('; ') : null
}
