import { AppError, notFound } from '../../domain/errors.ts'

interface Route {
  method: string
  path: string
}

/** Whether a path is one of a route, with or without a slash at its end. */
function matchesRoute(route: string, path: string): boolean {
  const [names, segments] = [route, path].map((text) => text.replace(/\/$/, '').split('/')) as [string[], string[]]
  return (
    names.length === segments.length &&
    names.every((name, index) => (name.startsWith(':') ? segments[index] !== '' : name === segments[index]))
  )
}

const isFixed = ({ path }: Route): boolean => !path.includes(':')

/** Routes that answer a path; middleware (`ALL`) answers none, and a fixed path is never the `{id}` of its neighbours. */
function routesAt(routes: readonly Route[], path: string): Route[] {
  const found = routes.filter((route) => route.method !== 'ALL' && matchesRoute(route.path, path))
  const fixed = found.filter(isFixed)
  return fixed.length ? fixed : found
}

function notAllowed(routes: readonly Route[]): AppError {
  const methods = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const allow = [...new Set(methods)].join(', ')
  return new AppError('method_not_allowed', `This path supports ${allow}.`, { headers: { allow } })
}

/** The refusal without a route: 405 with `Allow` if the path has other methods, otherwise 404. */
export function refuseUnrouted(routes: readonly Route[], path: string): AppError {
  const found = routesAt(routes, path)
  return found.length ? notAllowed(found) : notFound()
}

/** The methods of each fixed path that a placeholder also matches, such as `/v1/editions/_meta` and `{id}`. */
export function createMethodCheck(routes: readonly Route[]): (method: string, path: string) => void {
  const fixed = Map.groupBy(
    routes.filter((route) => route.method !== 'ALL' && isFixed(route)),
    ({ path }) => path,
  )
  return (method, path) => {
    const here = fixed.get(path.replace(/\/$/, ''))
    if (here && !here.some((route) => route.method === (method === 'HEAD' ? 'GET' : method))) throw notAllowed(here)
  }
}
