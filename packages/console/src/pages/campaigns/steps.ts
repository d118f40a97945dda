import { useQuery } from '@tanstack/react-query'
import { get, queries, type Schema } from '../../api'
import { useRefusalReason } from '../../caller'
import { campaignQuery } from './draft'
import { isStartable } from './types'

export const steps = ['audience', 'content', 'test', 'when'] as const
export type Step = (typeof steps)[number]

/** The step in which a fault can be mended. */
export function findStep({ attr, code }: Pick<Schema['FieldProblem'], 'attr' | 'code'>): Step | null {
  if (attr?.startsWith('segment_id')) return 'audience'
  if (attr?.startsWith('email_message_id') || attr?.startsWith('sms_body')) return 'content'
  return code.startsWith('approval') ? 'when' : null
}

/** The plan of a start now, for those who may know it. */
export const usePlan = (id: string, enabled: boolean) => {
  const refusal = useRefusalReason('planCampaign')
  const plan = get('/v1/campaigns/{id}/plan', { params: { path: { id } } })
  // A campaign that was just started has no plan any more, before the page shows that.
  const hasPlan = () => isStartable(queries.getQueryData(campaignQuery(id).queryKey)?.data.status ?? 'draft')
  return {
    query: useQuery({ ...plan, enabled: () => enabled && refusal === null && hasPlan(), refetchInterval: 30_000 }),
    refusal,
  }
}
