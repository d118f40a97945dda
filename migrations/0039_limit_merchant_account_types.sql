-- Types were free text while an operator wrote them. Of a service that nobody calls, refunds wait until a person says
-- that they were paid.
update merchant_accounts set type = lower(trim(type)) where lower(trim(type)) in ('manual', 'test', 'stripe');
update merchant_accounts set type = 'manual', settle_manually = 1 where type not in ('manual', 'test', 'stripe');

-- What is stored of a customer, for exports and erasures.
create index refund_requests_of_user on refund_requests (user_id);
