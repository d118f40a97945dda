import type { Call } from '../calls'

type Written = Pick<Call, 'method' | 'path' | 'init'>

const isFile = (body: unknown): boolean => body instanceof Blob || body instanceof FormData

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>

const listValues = (values: Query = {}): [string, string][] =>
  Object.entries(values).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [[key, Array.isArray(value) ? value.join(',') : String(value)]],
  )

/** The call for a shell. The token is not written: it comes from the variable TOKEN. */
export function writeCurl({ method, path, init }: Written, origin: string): string {
  const { params, body, headers = {} } = init
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params?.path?.[name])))
  const query = new URLSearchParams(listValues(params?.query as Query | undefined)).toString()
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quote(`${origin}${address}${query && `?${query}`}`)}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
  ]
  if (isFile(body)) lines.push('--data-binary @FILE')
  else if (body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`)
  return lines.join(' \\\n  ')
}

/** The call with the client of the package `@event-commerce/client`. */
export function writeClientCode({ method, path, init }: Written): string {
  const { params, body, headers } = init
  const values = { params, headers, body: isFile(body) ? 'FILE' : body }
  const json = JSON.stringify(values, null, 2)
  const options = json === '{}' ? '' : `, ${json.replaceAll(/"([A-Za-z_]\w*)":/g, '$1:')}`
  return `const { data } = await client.${method}('${path}'${options})`
}
