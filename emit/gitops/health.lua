-- The health of a ClusterQueue, a LocalQueue or an AdmissionCheck of Kueue: healthy if
-- it is active, suspended if somebody has stopped it.
local hs = {status = "Progressing", message = "Kueue has not looked at it yet"}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    if condition.type == "Active" then
      hs.message = condition.message
      if condition.status == "True" then
        hs.status = "Healthy"
      elseif condition.reason == "Stopped" then
        hs.status = "Suspended"
      end
    end
  end
end
return hs
