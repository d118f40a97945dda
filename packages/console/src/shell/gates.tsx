import { ApiError } from '@event-commerce/client'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useParams } from '@tanstack/react-router'
import { get } from '../api'
import { useCaller } from '../caller'
import { NotFound } from '../parts/failure'

/** Lists of an edition that is not there, or not visible for the person, would look as if nothing was sold yet. */
export function EditionGate() {
  const { edition: id = '' } = useParams({ strict: false })
  const { error } = useQuery({ ...get('/v1/editions/{id}', { params: { path: { id } } }), staleTime: 60_000 })
  return error instanceof ApiError && error.status === 404 ? <NotFound /> : <Outlet />
}

export function OrganizationGate() {
  const { organization } = useParams({ strict: false })
  const person = useCaller()
  const isVisible =
    person?.is_superuser === true || person?.organizations.some(({ id }) => id === organization) === true
  return isVisible ? <Outlet /> : <NotFound />
}
