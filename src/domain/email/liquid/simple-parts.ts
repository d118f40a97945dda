import { type Context, type Emitter, type Template, TypeGuards } from 'liquidjs/dist/liquid.browser.mjs'

const plainOutput = /^\{\{-?\s*([a-z_]+)\.([a-z_]+)(?:\[(\d+)\])?\s*-?\}\}$/
const markup = /[&<>"']/

const readOwn = (values: unknown, name: string): unknown =>
  typeof values === 'object' && values !== null && Object.hasOwn(values, name)
    ? (values as Record<string, unknown>)[name]
    : undefined

/**
 * Renders a part of a template without LiquidJS where that is the same: a text, or a variable such as
 * `{{ customer.first_name }}` or `{{ tracking.links[0] }}` whose value is a string without markup. LiquidJS takes six
 * generators for each of them. Every other value, such as a date or a name with `&`, goes through LiquidJS.
 *
 * `reservedNames` are the names that a template cannot assign, so that their values are the caller's.
 */
export function simplify(part: Template, reservedNames: ReadonlySet<string>): Template {
  const { token } = part
  if (TypeGuards.isHTMLToken(token)) {
    const text = token.getContent()
    return { token, render: () => text }
  }
  const [, category = '', name = '', index] = plainOutput.exec(token.getText()) ?? []
  if (!reservedNames.has(category)) return part
  return {
    token,
    render(context: Context, emitter: Emitter) {
      const value = readOwn(readOwn(context.environments, category), name)
      const item = index === undefined ? value : readOwn(value, index)
      if (typeof item !== 'string' || markup.test(item)) return part.render(context, emitter)
      // The filter that escapes values does the same.
      if (context.opts.outputEscape) context.memoryLimit.use(item.length)
      return item
    },
  }
}
