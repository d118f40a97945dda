import { useQuery } from '@tanstack/react-query'
import { get, type Schema } from '../../api'
import { useRefusalReason } from '../../caller'

export const steps = ['audience', 'content', 'test', 'when'] as const
export type Step = (typeof steps)[number]

/** The step in which a fault can be mended. */
export function stepOf({ attr, code }: Pick<Schema['FieldProblem'], 'attr' | 'code'>): Step | null {
  if (attr?.startsWith('segment_id')) return 'audience'
  if (attr?.startsWith('email_message_id') || attr?.startsWith('sms_body')) return 'content'
  return code.startsWith('approval') ? 'when' : null
}

/** What a start would do now, for those who may know it. */
export const usePlan = (id: string, enabled: boolean) => {
  const refusal = useRefusalReason('planCampaign')
  const plan = get('/v1/campaigns/{id}/plan', { params: { path: { id } } })
  return { query: useQuery({ ...plan, enabled: enabled && refusal === null, refetchInterval: 30_000 }), refusal }
}
